/// How many rows and columns a terminal has.
struct FrameSize: Equatable, Sendable {
    var rows: Int
    var columns: Int

    /// The smallest usable size.
    static let least = FrameSize(rows: 8, columns: 40)

    var isEnough: Bool { rows >= Self.least.rows && columns >= Self.least.columns }
}
