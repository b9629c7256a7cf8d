import Foundation

/// Keys of rows copied to C memory.
final class CKeys {
    let pointers: [UnsafePointer<CChar>]

    init(_ keys: [String]) {
        // There is no text without memory for it; a benchmark has nothing better to do then than to end.
        pointers = keys.map { UnsafePointer(strdup($0)!) }
    }

    deinit {
        for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) }
    }
}
