internal import StorageLog
internal import StorageViews

extension Storage {
    /// Returns metrics of the store's file and of this process's work with it, in Prometheus's text format. Serve the text
    /// unchanged as `text/plain; version=0.0.4; charset=utf-8`.
    ///
    /// ```swift
    /// router.get("/metrics") { _, _ in try await storage.prometheusMetrics() }
    /// ```
    ///
    /// Metrics of the process come from ``counters`` and the live views. A call costs a few look-ups in the file, whatever its
    /// size, so it may be made every second. The text contains names of projections, so serve it only to those who may see
    /// them.
    ///
    /// - Throws: ``StorageError`` as ``Storage`` says.
    public func prometheusMetrics() async throws -> String { try await metrics().text }

    /// The metrics of ``prometheusMetrics()``, so that callers can add their own.
    package func metrics() async throws -> PrometheusText {
        let path = engine.isFile ? engine.path : nil
        var text = PrometheusText()
        try await readHistory { try StoreMetrics($0, path: path, countsLog: false) }.write(to: &text)
        counters.write(to: &text)
        await subscriptions.counters.write(
            to: &text, position: await subscriptions.position, nodes: await subscriptions.nodeCount, head: head)
        return text
    }
}

extension StorageCounters {
    fileprivate func write(to text: inout PrometheusText) {
        text.add("storagekit_process_commits_total", as: .counter, commits, help: "Commits that this process has made.")
        text.add(
            "storagekit_process_events_total", as: .counter, events, help: "Events of the commits of this process.")
        text.add(
            "storagekit_failed_commits_total", as: .counter, failedCommits,
            help: "Writes that threw and changed nothing.")
        text.add(
            "storagekit_transactions_total", as: .counter, transactions, help: "Transactions, which commits share.")
        text.add(
            "storagekit_largest_group_commits", as: .gauge, largestGroup,
            help: "The most commits that shared a transaction.")
        text.add("storagekit_waiting_commits", as: .gauge, waitingCommits, help: "Writes that wait for their turn.")
        text.add(
            "storagekit_commit_duration_seconds", commitDurations,
            help: "From the call of a write to its answer, the wait for its turn included.")
        text.add(
            "storagekit_disk_duration_seconds", diskDurations,
            help: "COMMIT of a transaction: appending to the write-ahead log, flushing it, and checkpoints.")
        text.add(
            "storagekit_lock_wait_seconds_total", as: .counter, lockWait.seconds,
            help: "Waits for SQLite's lock of the file.")
        text.add(
            "storagekit_checkpoints_total", as: .counter, checkpoints,
            help: "How often the write-ahead log was copied into the file.")
        text.add(
            "storagekit_checkpoint_seconds_total", as: .counter, checkpointDuration.seconds, help: "How long that took."
        )
        text.add(
            "storagekit_wal_pages", as: .gauge, walPages,
            help: "Pages of the write-ahead log after the last transaction.")
        text.add(
            "storagekit_page_cache_hits_total", as: .counter, pageCacheHits,
            help: "Pages that were in the writer's cache.")
        text.add(
            "storagekit_page_cache_misses_total", as: .counter, pageCacheMisses,
            help: "Pages that the writer had to read.")
        text.add(
            "storagekit_sealed_runs_total", as: .counter, sealedRuns, help: "Runs of segments that were sealed.")
        text.add(
            "storagekit_failed_sealings_total", as: .counter, failedSealings,
            help: "Attempts to seal segments in the background that failed.")
        text.add(
            "storagekit_longest_sealing_seconds", as: .gauge, longestSealing.seconds,
            help: "The longest time for which sealing has held the writer.")
    }
}

extension EngineCounters {
    /// - Parameters:
    ///   - position: The position that the views show.
    ///   - nodes: The number of results that are kept up to date.
    fileprivate func write(to text: inout PrometheusText, position: Int64, nodes: Int, head: Int64) {
        text.add(
            "storagekit_live_results", as: .gauge, nodes,
            help: "Results of live queries and views that are kept up to date.")
        text.add(
            "storagekit_live_lag_events", as: .gauge, nodes > 0 ? max(0, head - position) : 0,
            help: "Positions that live results are behind the head; commits that concern none of them count too.")
        text.add(
            "storagekit_live_steps_total", as: .counter, steps, help: "How often live results were brought up to date.")
        text.add("storagekit_live_seconds_total", as: .counter, duration.seconds, help: "How long that took.")
        text.add(
            "storagekit_live_skipped_transactions_total", as: .counter, skipped,
            help: "Transactions that concerned no live result.")
        text.add(
            "storagekit_live_wakeups_total", as: .counter, wakeups,
            help: "Live results that a step changed or looked at.")
        text.add("storagekit_live_reloads_total", as: .counter, reloads, help: "Live results that were read again.")
        text.add(
            "storagekit_live_statements_total", as: .counter, statements, help: "Statements that live results ran.")
    }
}
