import FaultSupport

/// Which call fails, and how.
struct Fault: CustomStringConvertible {
    /// What programs ask of a disk.
    static let kindsOfTheDisk: [(name: String, kind: Int)] = [
        ("read", FAULT_READ), ("write", FAULT_WRITE), ("sync", FAULT_SYNC), ("truncate", FAULT_TRUNCATE),
        ("open", FAULT_OPEN), ("delete", FAULT_DELETE), ("shared-memory", FAULT_SHARED_MEMORY), ("name", FAULT_NAME),
    ]
    static let kindsOfMemory: [(name: String, kind: Int)] = [("allocation", FAULT_ALLOCATION)]

    let kind: (name: String, kind: Int)
    /// Counted from 1.
    let call: UInt64
    /// Whether all later calls fail too.
    let lasts: Bool
    let effect: Int

    var description: String {
        let how = [FAULT_EFFECT_FULL: " on a full disk", FAULT_EFFECT_SHORT: " half-way on a full disk"][effect] ?? ""
        return "\(kind.name) \(call) fails\(how)\(lasts ? " and all later ones" : "")"
    }

    func arm() { fault_arm(UInt32(kind.kind), call, lasts ? 1 : 0, Int32(effect)) }

    /// Every way in which one of so many calls of a kind can fail.
    static func all(_ kind: (name: String, kind: Int), calls: UInt64, lastings: [Bool]) -> [Fault] {
        let effects = kind.kind == FAULT_WRITE ? [FAULT_EFFECT_ERROR, FAULT_EFFECT_FULL, FAULT_EFFECT_SHORT] : [0]
        guard calls > 0 else { return [] }
        return (1...calls).flatMap { call in
            effects.flatMap { effect in
                lastings.map { Fault(kind: kind, call: call, lasts: $0, effect: effect) }
            }
        }
    }
}
