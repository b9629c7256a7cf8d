package import StorageCore

/// A node whose updates are everything, or the steps from what it published before.
package protocol SteppedNode: LiveNode where Update: SteppedUpdate {
    /// An update of what was published last, without its rows.
    var header: Update { get }
    /// All rows or groups.
    var whole: Update.Whole { get }
    /// How many rows it holds.
    var rowCount: Int { get }
    /// Forgets what is new: it has failed. If it couldn't be read, the engine reloads it before it applies or publishes
    /// anything else; if only its value couldn't be shown, it stays as it is.
    func invalidate()
}

extension SteppedNode {
    package var updateLimit: Int { Update.stepLimit(rowCount: rowCount) }

    package func wholeUpdate() -> Update? {
        var update = header
        update.whole = whole
        return update
    }

    package func takeFailure(_ error: StorageError) -> Update? {
        invalidate()
        var update = header
        update.error = error
        return update
    }
}
