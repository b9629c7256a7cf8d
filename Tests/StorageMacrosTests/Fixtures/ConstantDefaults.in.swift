@StorageEntity
struct Job {
    var id: String = UUID().uuidString
    var timeout: Int = 60 * 60
    var most: Int = Int.max - 1
    var flags: UInt8 = (1 << 3) | ~0
    var kind: Kind = Kind.one
    var state: State? = Job.State.idle
    var isOpen: Bool = !false
    var least: Double = -.infinity
    var tries: Int? = Int(5)
    var note: String? = nil
    var hours: Int = hour * 24
    var start: Date = Date()
    var end: Date = Date.distantFuture
    var owner: String = Settings.owner
    @StorageJSON var names: [String?] = [nil, "a"]
    @StorageJSON var sizes: [Int] = [60 * 60, Int.max]
    @StorageJSON var parts: [String] = [String]()
    @StorageJSON var codes: [String] = [String](repeating: "a", count: 2)

    enum State: Int { case idle }
}
