extension String {
    /// An ASCII character many times. `init(repeating:count:)` appends them one by one, which takes a second for 40 million.
    package init(ascii character: Unicode.Scalar, count: Int) {
        self.init(decoding: [UInt8](repeating: UInt8(ascii: character), count: count), as: UTF8.self)
    }
}
