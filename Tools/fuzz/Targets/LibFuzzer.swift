import Foundation

// The program is libFuzzer's driver, which calls what stands here. STORAGEKIT_FUZZ_TARGET names the target, and
// STORAGEKIT_FUZZ_SEEDS a folder into which the target's first inputs are written instead of running it.

private let targets: [any FuzzTarget.Type] = [
    SegmentTarget.self, CatalogTarget.self, ImportTarget.self, QueryTarget.self, SearchTarget.self,
]

/// Made once: what a target keeps between inputs, such as a table to search in, is made with it.
///
/// Sound as `nonisolated(unsafe)`: set by the initializer that libFuzzer calls before everything else, on the one thread that
/// then runs the target.
nonisolated(unsafe) private var target: (any FuzzTarget)?

private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<Arguments>,
    _ run: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Where SwiftPM has the program begin: it gives the main function the name of the product.
@_cdecl("storagekit_fuzz_main")
public func start(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt {
    var (count, arguments) = (count, arguments)
    return runDriver(&count, &arguments) { testOneInput($0, $1) }
}

@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>?, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    let environment = ProcessInfo.processInfo.environment
    let name = environment["STORAGEKIT_FUZZ_TARGET"] ?? ""
    guard let type = targets.first(where: { $0.name == name }) else {
        print("STORAGEKIT_FUZZ_TARGET is one of \(targets.map { $0.name }.joined(separator: ", "))")
        exit(2)
    }
    do {
        if let folder = environment["STORAGEKIT_FUZZ_SEEDS"] {
            for (name, bytes) in try type.seeds() {
                try Data(bytes).write(to: URL(fileURLWithPath: folder + "/" + name))
            }
            exit(0)
        }
        target = try type.init()
    } catch {
        print("the target can't be made: \(error)")
        exit(2)
    }
    return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try target?.run(UnsafeRawBufferPointer(start: start, count: count))
    } catch {
        // An error is an answer.
    }
    return 0
}
