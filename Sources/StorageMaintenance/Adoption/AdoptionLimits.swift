/// The sizes at which a commit of an adoption ends, because its changes are held in memory.
package struct AdoptionLimits: Sendable {
    /// The rows after which a commit ends, except among tables whose rows can refer to one another.
    package var rows = 65_536
    package var bytes = 32 << 20
    /// The values of a commit; and of tables whose rows can refer to one another, and shouldn't be in several commits.
    package var values = 4_194_304
    /// The bytes of a commit with such tables.
    package var cyclicBytes = 256 << 20
    /// Rows that are recorded between two looks at the size of the commit.
    package var rowsPerStep = 1_024

    package init() {}
}
