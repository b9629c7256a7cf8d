public import StorageCore
public import StorageLog

extension Storage {
    /// Gives a point a name, by which it can be meant wherever a point is asked for.
    ///
    /// ```swift
    /// try await storage.tag("release-3", note: "as shipped")
    /// let shipped = try await storage.asOf(.tag("release-3"))
    /// ```
    ///
    /// Tagging is an event of the log, with actor and reason, and moves the head; no row of users changes. `undo`
    /// skips it, and `revert` of its commit removes it. Exports and differences
    /// leave it out.
    ///
    /// - Parameters:
    ///   - name: Up to 200 bytes without spaces, control characters, `:`, `~`, `..`, and without a hyphen at the beginning
    ///     or a dot at the end. Names are the same where their bytes are.
    ///   - point: What to tag. The head is that of the newest commit that did more than tag and note, so that tagging
    ///     twice tags the same.
    ///   - note: A text about it; empty takes the text away, nil leaves it as it is.
    ///   - moving: Whether a tag of this name that points elsewhere is moved.
    /// - Returns: The receipt; it has no commit where the tag was like that already.
    /// - Throws: `invalid-name`; `not-found` for a point that isn't in the log; `conflict` where the tag points elsewhere.
    @discardableResult
    public func tag(
        _ name: String, at point: StoragePoint = .head, note: String? = nil, moving: Bool = false,
        actor: String? = nil, reason: String? = nil
    ) async throws -> CommitReceipt {
        try await receipt(
            of: engine.tag(name, at: point, note: note, moves: moving, metadata: metadata(actor, reason)))
    }

    /// Takes a tag away. What it pointed to stays as it is.
    ///
    /// ```swift
    /// try await storage.removeTag("release-3", reason: "never shipped")
    /// ```
    ///
    /// - Throws: `not-found` where there is no such tag.
    @discardableResult
    public func removeTag(_ name: String, actor: String? = nil, reason: String? = nil) async throws -> CommitReceipt {
        try await receipt(of: engine.removeTag(name, metadata: metadata(actor, reason)))
    }

    /// All tags, in the order of the points that they name.
    ///
    /// ```swift
    /// for tag in try await storage.tags() { print(tag.name, tag.position) }
    /// ```
    ///
    /// - Throws: ``StorageError`` with `closed`.
    public func tags() async throws -> [StorageTag] { try await readHistory { try $0.tags.tags() } }

    /// Every change of a tag, oldest first, also of one that is deleted by now.
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

    /// Annotates a point. An earlier note of the same point is replaced, and stays in the log.
    ///
    /// ```swift
    /// try await storage.note("imported twice by mistake", at: .commit(77))
    /// ```
    ///
    /// - Parameters:
    ///   - text: Not empty.
    ///   - point: Of a commit, it is the commit's last event that carries the note.
    /// - Throws: `not-found` for a point that isn't in the log.
    @discardableResult
    public func note(
        _ text: String, at point: StoragePoint, actor: String? = nil, reason: String? = nil
    ) async throws -> CommitReceipt {
        try await receipt(of: engine.note(text, at: point, metadata: metadata(actor, reason)))
    }

    /// Takes the note of a point away.
    ///
    /// ```swift
    /// try await storage.removeNote(at: .commit(77))
    /// ```
    ///
    /// - Throws: `not-found` where there is none.
    @discardableResult
    public func removeNote(
        at point: StoragePoint, actor: String? = nil, reason: String? = nil
    ) async throws -> CommitReceipt {
        try await receipt(of: engine.note(nil, at: point, metadata: metadata(actor, reason)))
    }

    /// All notes, in the order of the points that they are about.
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
