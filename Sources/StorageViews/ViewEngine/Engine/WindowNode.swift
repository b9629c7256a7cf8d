/// A list with a window that can be moved.
package protocol WindowNode: SteppedNode {
    /// Shows another part of the rows.
    func move(offset: Int, limit: Int?, _ snapshot: Snapshot) throws
}
