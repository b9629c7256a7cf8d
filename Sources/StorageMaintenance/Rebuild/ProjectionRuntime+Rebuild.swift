internal import GRDB
internal import StorageCore
internal import StorageLog
internal import StorageProjections
internal import Synchronization

extension ProjectionRuntime {
    /// Rebuilds a projection beside the store while commits go on, and then puts what it has made in the place of its
    /// tables.
    package func rebuild(
        _ name: String, options: RebuildOptions = RebuildOptions(),
        progress: @escaping @Sendable (RebuildProgress) -> Void = { _ in }
    ) async throws -> RebuildReport {
        guard let registration = registrations[name] else { throw StorageError.noProjection(name) }
        // Somebody else may be folding the same.
        let isFree = beginFolding(name)
        defer { if isFree { endFolding(name) } }
        let file = isFree && engine.isFile ? ProjectionRebuildFile(store: engine.path, projection: name) : nil
        do {
            let report = try await rebuild(registration, options: options, in: file, progress: progress)
            file?.remove()
            return report
        } catch {
            // Only what was interrupted is resumed.
            if !Task.isCancelled, (error as? StorageError)?.code != .closed { file?.remove() }
            throw error
        }
    }

    private func rebuild(
        _ registration: ProjectionRegistration, options: RebuildOptions, in file: ProjectionRebuildFile?,
        progress: @escaping @Sendable (RebuildProgress) -> Void
    ) async throws -> RebuildReport {
        let name = registration.name
        let kept = options.keepsOld ? try await tablesToKeep(name) : [:]
        var (made, report) = try await foldBeside(
            registration, compares: options.compares, in: file, progress: progress)
        guard options.swaps else { return report }
        try Task.checkCancellation()
        if made?.isCopyable == false { made = nil }
        do {
            try await goOn(name) { [made] projections, slot, writer, db in
                try writer.group(db) { try projections.rebuild(slot, on: writer, from: made, keeping: kept) }
                slot.isInStep = false
                slot.hasDeadLetters = try projections.deadLetterCount(name, writer) > 0
            }
        } catch let failure as ProjectionBatchError {
            throw StorageError.projectionFailed(name, at: failure.positions, cause: failure.cause)
        }
        report.isSwapped = true
        report.kept = kept
        if registration.mode == .async { try await wait(for: [name], through: engine.committed.position) }
        return report
    }

    /// A projection's tables with the names under which they are kept, none of which is taken.
    private func tablesToKeep(_ name: String) async throws -> [String: String] {
        try await engine.read { db in
            let connection = try db.connection
            let tables = try StoredProjection.all(in: connection).first { $0.name == name }?.tables.tables ?? []
            // What virtual tables keep for themselves says nothing alone.
            let select = try PreparedStatement(
                connection, "SELECT 1 FROM pragma_table_list WHERE name = ?1 AND type <> 'shadow'")
            let kept = try tables.filter { table in
                defer { select.reset() }
                select.bind(text: table, at: 1)
                return try select.step()
            }.map { ($0, RetainedTable.name(ofProjected: $0)) }
            for (table, name) in kept { try RetainedTable.checkFree(name, of: table, connection) }
            return Dictionary(uniqueKeysWithValues: kept)
        }
    }

    /// Makes a projection in a database of its own as far as it has come in the store.
    ///
    /// - Parameters:
    ///   - compares: Whether the two are compared, and it is an error where that can't be.
    ///   - file: Where the database is kept, so that another rebuild can resume it.
    /// - Returns: nil where the projection can't be made apart from the store, as it reads other tables or throws.
    private func foldBeside(
        _ registration: ProjectionRegistration, compares: Bool, in file: ProjectionRebuildFile?,
        progress: @escaping @Sendable (RebuildProgress) -> Void
    ) async throws -> (RebuiltProjection?, RebuildReport) {
        let meter = RebuildMeter(progress)
        let upcasts = upcasts
        return try await engine.read { db in
            let connection = try db.connection
            let reached = try Checkpoint.load(registration.name, connection)?.position ?? 0
            var hasBegun = false
            do {
                let made = try RebuiltProjection(
                    registration.projection, of: connection, upcasts: upcasts, needsCopy: !compares, through: reached,
                    in: file
                ) { position in
                    try Task.checkCancellation()
                    hasBegun ? meter.update(0, position) : meter.start([0: position], head: reached)
                    hasBegun = true
                }
                var report = RebuildReport()
                report.resumedAt = made.resumedAt
                if compares {
                    meter.enter(.comparing)
                    try made.compare(with: connection, &report)
                }
                return (made, report)
            } catch let error as StorageError
                where [.projectionFailed, .invalidArgument, .notFound].contains(error.code) && !compares
            {
                return (nil, RebuildReport())
            }
        }
    }
}
