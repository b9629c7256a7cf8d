import CSQLite
import FaultSupport
import Foundation
import StorageKit

/// The fault laboratory, a process of its own, because it takes the place of SQLite's VFS and allocator.
///
/// `fault-worker power SEED STEPS IMAGES [normal|lying]`: records the life of a store and opens images of it after losses of
/// power; with `normal` durability, or on a disk that lies about bringing something to it.
///
/// It prints lines `finding …` and `count NAME NUMBER`, and ends with 0 whatever it found: those who call it judge.
@main
struct FaultWorker {
    static func main() async throws {
        // As every process that opens a store does it, which would come too late behind the VFS.
        storage_configure_process()
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments.first {
        case "power": try await losePower(arguments)
        default: throw Misuse("usage: fault-worker power …")
        }
    }

    private static func losePower(_ arguments: [String]) async throws {
        guard arguments.count >= 4, let seed = UInt64(arguments[1]), let steps = Int(arguments[2]),
            let images = Int(arguments[3])
        else { throw Misuse("usage: fault-worker power SEED STEPS IMAGES [normal|lying]") }
        let disk = arguments.count > 4 ? arguments[4] : "full"
        let run = PowerLossRun(
            seed: seed, steps: steps, images: images, durability: disk == "normal" ? .normal : .full,
            ignoresSyncs: disk == "lying")
        try await run.run().print()
    }

    /// Past all buffers, so that the line is out before the process dies.
    static func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    }
}
