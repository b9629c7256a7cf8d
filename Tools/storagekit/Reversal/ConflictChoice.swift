import ArgumentParser
import StorageKit

/// What to do if a row has changed since.
enum ConflictChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
    case abort, skip, overwrite

    var policy: ConflictPolicy {
        switch self {
        case .abort: .abort
        case .skip: .skip
        case .overwrite: .overwrite
        }
    }
}
