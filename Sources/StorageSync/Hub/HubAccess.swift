package import StorageCore

/// What a client of a hub may see and do. A hub checks it before each read, and before and after each write.
package struct HubAccess: Sendable, Hashable {
    package struct Grant: Sendable, Hashable {
        /// The entity's name; nil for every entity without a grant of its own.
        package let entity: String?
        package let reads: Bool
        package let writes: Bool
        /// Rows that don't match don't exist for the client and can't be written by it. Nil for all rows.
        package let condition: RowPredicate?

        package init(entity: String?, reads: Bool, writes: Bool, condition: RowPredicate? = nil) {
            self.entity = entity
            self.reads = reads
            self.writes = writes
            self.condition = condition
        }
    }

    /// The client's name in commits.
    package let actor: String
    /// Prefixes the ids of its producers, so that no client can write under another's name; the name of its token, for
    /// example.
    package let namespace: String
    package let grants: [Grant]

    package init(actor: String, namespace: String, grants: [Grant]) {
        self.actor = actor
        self.namespace = namespace
        self.grants = grants
    }

    /// Full access, for a program that uses its own hub.
    package static let full = HubAccess(
        actor: "hub", namespace: "", grants: [Grant(entity: nil, reads: true, writes: true)])

    package func grant(_ entity: String) -> Grant? {
        grants.first { $0.entity == entity } ?? grants.first { $0.entity == nil }
    }

    package func mayRead(_ entity: String) -> Bool { grant(entity)?.reads ?? false }
    package func mayWrite(_ entity: String) -> Bool { grant(entity)?.writes ?? false }

    /// A fingerprint of what can be read: the collections, and the conditions on them.
    ///
    /// - Throws: If a condition's own SQL isn't an expression.
    package var fingerprint: String {
        get throws {
            let isOpen = grants.first { $0.entity == nil }?.reads ?? false
            var known: Set<String?> = []
            var parts: [String] = []
            for grant in grants where known.insert(grant.entity).inserted && (grant.reads || isOpen) {
                let condition = try grant.condition.map { try PredicateSQL($0) { $0.debugDescription } }
                let texts = [condition?.text ?? ""] + (condition?.values ?? []).map { "\($0)" }
                parts.append("\(grant.entity.debugDescription) \(grant.reads) \(texts)")
            }
            return parts.sorted().joined(separator: "\n").utf8.fnv1a
        }
    }

    /// The message for a client whose own write has caused an error. If the client sees only some rows, it omits the
    /// constraint's text, which may reveal others.
    func reason(_ error: StorageError) -> String {
        let isOfTheSchema = [.conflict, .database].contains(error.code)
        guard isOfTheSchema, grants.contains(where: { $0.condition != nil }) else { return error.message }
        return "The store rejects it: it violates a constraint of the schema."
    }

    /// The hub's id for a producer of the client.
    package func producer(_ name: String) -> ProducerID {
        ProducerID(namespace.isEmpty ? name : "\(namespace)/\(name)")
    }
}
