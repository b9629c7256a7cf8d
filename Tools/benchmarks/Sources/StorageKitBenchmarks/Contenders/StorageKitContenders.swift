import Foundation

enum StorageKitContenders {
    static func saveMany(_ people: [Person]) -> [Contender] { [] }
    static func saveConcurrently(_ people: [Person]) -> [Contender] { [] }
    static func saveOneByOne(_ people: [Person]) -> [Contender] { [] }
    static func readAll(_ people: [Person]) -> [Contender] { [] }
    static func importHistory(_ jsonLines: URL) -> [Contender] { [] }
    static func rebuild(_ people: [Person]) -> [Contender] { [] }
    static func logSize(rows: Int, updates: Int) -> [Contender] { [] }
    static func replay(_ log: LargeLog) -> [Contender] { [] }
    static func rowHistory(_ log: LargeLog, lookUps: Int) -> [Contender] { [] }
    static func open(_ log: LargeLog) -> [Contender] { [] }
    static func peakMemory(_ log: LargeLog) -> [Contender] { [] }
    static func asOf(rows: Int, events: Int) -> [Contender] { [] }
}
