/// Why a path can't be counted.
struct HotPathError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
