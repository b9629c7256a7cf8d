@StorageEntity
struct Memo {
    var id: String
    var title: String = .init()
    var text: String = String.init()
    var count: Int = Int.init(5)
    var wait: TimeInterval = TimeInterval(60)
    var created: Date = .init()
    @StorageJSON var tags: [String] = .init()
    @StorageJSON var sizes: Set<Int> = .init()
    @StorageJSON var parts: [String: [Int]] = [String: [Int]].init()
    @StorageJSON var lists: [[Int]] = [.init()]
    @StorageJSON var width: CGFloat = CGFloat(2)
}
