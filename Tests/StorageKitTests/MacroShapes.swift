import StorageEntities
public import StorageKit

@StorageEntity
public struct Bare { public var id: String }

@StorageEntity(table: "my \"odd\" table")
struct Odd {
    let id: Int
    var `class`: String  // trailing
    /// Doc
    var a, b: Int
    var x: Int = 1, y: String
    var watched: Double = 0 { didSet { print(oldValue) } }
    var role: Role
    var maybe: Role?
    var implicit: Int!
    var me: Optional<Self.Role>
    static let z = 3
    static var counter: Int { 0 }
    var computed: Int { a + b }
    var both: Int {
        get { a }
        set { a = newValue }
    }
    enum Role: String, Codable { case one, two }
    var write: Int
    var row: String
    var container: String
    var entity: String
    var now: Int
    var encode: Int
    var key: String
    var from: Int
    var databaseTableName: String
    var schemaColumns: String
    func hello() {}
}

struct Tag: RawRepresentable, Hashable, Codable, Sendable { var rawValue: String }

@StorageEntity
struct Own { var id: Tag; var updatedAt: Date; var name: String }

public enum Outer {
    struct Deep {
        @StorageEntity
        fileprivate struct Inner { var id: String; fileprivate var secret: Int = 4 }
    }
    @StorageEntity
    struct Same: Codable, Sendable, Equatable { var id: String }
}
public extension Outer {
    @StorageEntity
    struct Ext { public var id: String }
}
extension Outer.Deep {
    @StorageEntity struct Line { var id: UUID }
}
@StorageEntity
private struct Hidden { var id: String }

@StorageEntity
struct Declared: RegisteredEntity { var id: String }

@available(macOS 15, *)
@StorageEntity
nonisolated struct Newer { var id: String }

@StorageEntity
struct Custom {
    var id: String
    var name: String
    init(from decoder: any Decoder) throws { fatalError() }
    init(id: String, name: String, more: Int = 4) { self.id = id; self.name = name }
}
@StorageEntity
struct `Type` { var id: String }
@StorageEntity
struct `two words` { var id: String; var `three small words`: Int }
@StorageEntity
struct Row { var id: String }
@StorageEntity
struct Date2 { var id: String; var Date: Foundation.Date }
func useAll() {
    print(
        OddRecord.schemaColumns, Outer.Deep.InnerRecord.databaseTableName, Outer.ExtRecord.schemaColumns,
        HiddenRecord.databaseTableName)
    _ = Outer.Deep.Inner.Record.self
}
