/// Something that makes a measurement impossible, in words for the person who runs it.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
