import ArgumentParser
import StorageProjections

/// What happens where a row has changed since.
enum ConflictChoice: String, CaseIterable, ExpressibleByArgument, Sendable {
    case refuse, skip, overwrite

    var policy: ConflictPolicy {
        switch self {
        case .refuse: .refuse
        case .skip: .skip
        case .overwrite: .overwrite
        }
    }
}
