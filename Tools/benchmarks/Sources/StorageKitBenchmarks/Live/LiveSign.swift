/// What tells that a view shows a commit.
enum LiveSign: Sendable {
    /// Whatever it shows.
    case anything
    /// A person, as it is.
    case person(Person)
    case absence(of: String)
    case rows(Int)
    /// So many rows with ages of this sum: nothing is missing, nothing is old.
    case ages(sum: Int64, rows: Int)
    case title(String)
    /// The greatest score.
    case greatest(Double)
    case greatestOfCity(Double, String)

    func isShown<Row: LivePerson>(by people: [Row]) -> Bool {
        switch self {
        case .anything: true
        case .person(let person):
            people.contains {
                $0.age == person.age && $0.active == person.active && $0.score == person.score && $0.id == person.id
            }
        case .absence(let id): !people.contains { $0.id == id }
        case .rows(let count): people.count == count
        case .ages(let sum, let rows): people.count == rows && people.reduce(0) { $0 + $1.age } == sum
        case .title, .greatest, .greatestOfCity: false
        }
    }

    func isShown(byGreatest score: Double?) -> Bool {
        switch self {
        case .anything: true
        case .greatest(let greatest): score == greatest
        default: false
        }
    }

    func isShown(byCities greatest: (String) -> Double?) -> Bool {
        switch self {
        case .anything: true
        case .greatestOfCity(let score, let city): greatest(city) == score
        default: false
        }
    }

    func isShown(byTitles titles: some Sequence<String>) -> Bool {
        switch self {
        case .anything: true
        case .title(let title): titles.contains(title)
        default: false
        }
    }
}

/// What signs need to know of a row.
protocol LivePerson: SendableMetatype {
    var id: String { get }
    var age: Int64 { get }
    var active: Bool { get }
    var score: Double { get }
}

extension Person: LivePerson {}
extension StoredPerson: LivePerson {}
