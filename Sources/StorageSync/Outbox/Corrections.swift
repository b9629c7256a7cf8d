/// Finds the corrections of writes that can't be sent: the first later writes of their documents that can be.
struct Corrections {
    /// By document, the pending writes from the last correction on; none if there was none.
    private var rest: [DocumentID: ArraySlice<PendingWrite>] = [:]

    /// - Parameters:
    ///   - write: Behind those of the same document that were asked for before.
    ///   - pending: Reads all pending writes of the document, in order; called once for each document.
    /// - Returns: nil if no later write can be sent.
    /// - Complexity: A pending write that can't be sent is tried once, whatever the number of calls; each call tries
    ///   one that can be.
    mutating func first(
        after write: PendingWrite, of pending: () throws -> [PendingWrite],
        where isSendable: (PendingWrite) throws -> Bool
    ) throws -> PendingWrite? {
        let known = try rest[write.document] ?? pending()[...]
        let found = try known.drop { $0.position <= write.position }.drop { try !isSendable($0) }
        rest[write.document] = found
        return found.first
    }
}
