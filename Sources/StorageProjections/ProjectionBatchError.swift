/// A projection threw while it followed the log.
package struct ProjectionBatchError: Error {
    package let cause: any Error
    /// The batch that it was given.
    package let positions: ClosedRange<Int64>
}
