public import StorageCore
public import StorageLog

extension Storage {
    /// Tags a point with a name, which can be used wherever a point is expected.
    ///
    /// ```swift
    /// try await storage.tag("release-3", note: "as shipped")
    /// let shipped = try await storage.asOf(.tag("release-3"))
    /// ```
    ///
    /// Tagging is an event in the log, with actor and reason, and moves the head; no row of your own entities changes. `undo`
    /// skips it, and `revert` of its commit removes the tag. Exports and differences leave it out.
    ///
    /// - Parameters:
    ///   - name: Up to 200 bytes. Spaces, control characters, `:`, `~` and `..` aren't allowed, nor a hyphen at the beginning
    ///     or a dot at the end. Names are compared by their bytes.
    ///   - point: The point to tag. The head means the newest commit that did more than tag or note, so tagging twice tags the
    ///     same commit.
    ///   - note: A note for the tag; an empty text removes the note, nil leaves it unchanged.
    ///   - moving: Whether to move a tag of this name that points elsewhere.
    /// - Returns: The receipt; it has no commit if the tag already had these values.
    /// - Throws: `invalid-name`; `not-found` for a point that isn't in the log; `conflict` if the tag points elsewhere and
    ///   isn't moved.
    @discardableResult
    public func tag(
        _ name: String, at point: StoragePoint = .head, note: String? = nil, moving: Bool = false,
        actor: String? = nil, reason: String? = nil
    ) async throws -> CommitReceipt {
        try await receipt(
            of: engine.tag(name, at: point, note: note, moves: moving, metadata: metadata(actor, reason)))
    }

    /// Removes a tag; the tagged point is unchanged.
    ///
    /// ```swift
    /// try await storage.removeTag("release-3", reason: "never shipped")
    /// ```
    ///
    /// - Throws: `not-found` if there is no such tag.
    @discardableResult
    public func removeTag(_ name: String, actor: String? = nil, reason: String? = nil) async throws -> CommitReceipt {
        try await receipt(of: engine.removeTag(name, metadata: metadata(actor, reason)))
    }

    /// Returns all tags, in the order of their points.
    ///
    /// ```swift
    /// for tag in try await storage.tags() { print(tag.name, tag.position) }
    /// ```
    ///
    /// - Throws: ``StorageError`` with `closed`.
    public func tags() async throws -> [StorageTag] { try await readHistory { try $0.tags.tags() } }

    /// Returns every change of a tag, oldest first, including those of a deleted tag.
    ///
    /// ```swift
    /// for event in try await storage.history(ofTag: "release-3") { print(event.operation, event.position) }
    /// ```
    ///
    /// - Throws: ``StorageError`` with `closed`.
    public func history(ofTag name: String) async throws -> [StorageEvent] {
        try await readHistory { history in
            var events: [StorageEvent] = []
            try history.log.forEachVersion(of: [.text(name)], in: .tag) { batch, index in
                events.append(batch.event(at: index, catalog: history.catalog))
                return true
            }
            return events.reversed()
        }
    }

    /// Annotates a point. An earlier note of the same point is replaced, but stays in the log.
    ///
    /// ```swift
    /// try await storage.note("imported twice by mistake", at: .commit(77))
    /// ```
    ///
    /// - Parameters:
    ///   - text: Not empty.
    ///   - point: The point to annotate; for a commit, the note is attached to its last event.
    /// - Throws: `not-found` for a point that isn't in the log.
    @discardableResult
    public func note(
        _ text: String, at point: StoragePoint, actor: String? = nil, reason: String? = nil
    ) async throws -> CommitReceipt {
        try await receipt(of: engine.note(text, at: point, metadata: metadata(actor, reason)))
    }

    /// Removes the note of a point.
    ///
    /// ```swift
    /// try await storage.removeNote(at: .commit(77))
    /// ```
    ///
    /// - Throws: `not-found` if there is none.
    @discardableResult
    public func removeNote(
        at point: StoragePoint, actor: String? = nil, reason: String? = nil
    ) async throws -> CommitReceipt {
        try await receipt(of: engine.note(nil, at: point, metadata: metadata(actor, reason)))
    }

    /// Returns all notes, in the order of their points.
    ///
    /// ```swift
    /// for note in try await storage.notes() { print(note.position, note.text) }
    /// ```
    ///
    /// - Throws: ``StorageError`` with `closed`.
    public func notes() async throws -> [StorageNote] { try await readHistory { try $0.tags.notes() } }

    private func receipt(of report: TagReport) throws -> CommitReceipt {
        // Only a dry run has none.
        guard let receipt = report.receipt else { throw StorageError.closed() }
        return receipt
    }
}
