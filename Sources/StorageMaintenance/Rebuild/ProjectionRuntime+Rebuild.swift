internal import GRDB
internal import StorageCore
internal import StorageLog
internal import StorageProjections
internal import Synchronization

extension ProjectionRuntime {
    /// Rebuilds a projection beside the store while commits continue, and then replaces its tables with the result.
    package func rebuild(
        _ name: String, options: RebuildOptions = RebuildOptions(),
        progress: @escaping @Sendable (RebuildProgress) -> Void = { _ in }
    ) async throws -> RebuildReport {
        guard let registration = registrations[name] else { throw StorageError.noProjection(name) }
        // Another rebuild may be folding the same projection.
        let isFree = beginFolding(name)
        defer { if isFree { endFolding(name) } }
        let file = isFree && engine.isFile ? ProjectionRebuildFile(store: engine.path, projection: name) : nil
        do {
            let report = try await rebuild(registration, options: options, in: file, progress: progress)
            file?.remove()
            return report
        } catch {
            // Only an interrupted rebuild can be resumed.
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

    /// A projection's tables and the names under which they are kept, which must all be free.
    private func tablesToKeep(_ name: String) async throws -> [String: String] {
        try await engine.read { db in
            let connection = try db.connection
            let tables = try StoredProjection.all(in: connection).first { $0.name == name }?.tables.tables ?? []
            // Shadow tables of virtual tables are useless by themselves.
            let select = try PreparedStatement(
                connection, "SELECT 1 FROM temp.pragma_table_list WHERE name = ?1 AND type <> 'shadow'")
            let kept = try tables.filter { table in
                defer { select.reset() }
                select.bind(text: table, at: 1)
                return try select.step()
            }.map { ($0, RetainedTable.name(ofProjected: $0)) }
            for (table, name) in kept { try RetainedTable.checkFree(name, of: table, connection) }
            return Dictionary(uniqueKeysWithValues: kept)
        }
    }

    /// Folds a projection in a separate database, up to its position in the store.
    ///
    /// - Parameters:
    ///   - compares: Whether the two are compared. It is an error then if the projection can't be folded.
    ///   - file: The file of the database, so that another rebuild can resume it.
    /// - Returns: A nil projection if it can't be folded apart from the store, because it reads other tables or throws.
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
