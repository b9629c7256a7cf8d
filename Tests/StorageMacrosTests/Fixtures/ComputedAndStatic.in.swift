@StorageEntity
struct User {
    static let limit = 3
    static var shared: String { "x" }
    var id: String
    var first: String
    var last: String { didSet { print(oldValue) } }
    var age: Int = 3 {
        willSet { print(newValue) }
    }
    var full: String { first + last }
    var alias: String {
        get { first }
        set { first = newValue }
    }
    subscript(index: Int) -> Int { index }
    func greet() {}
}
