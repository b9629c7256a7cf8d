package struct NumberedResult: Sendable, Equatable, Codable {
    package let number: Int64
    package let result: WriteResult

    package init(number: Int64, result: WriteResult) {
        self.number = number
        self.result = result
    }
}
