/// Documents by id, up to a limit.
package struct HubDocumentPage: Sendable {
    package let documents: [HubDocument]
    /// Whether more follow after the last one.
    package let hasMore: Bool
    /// The hub's last position when they were read.
    package let position: Int64
    package let line: [UInt8]
}
