// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody else builds fuzz targets. What they look at isn't public and has to be instrumented,
// so it is compiled here again, from links to the folders of the root package, and without its macros and tools.
let package = Package(
    name: "fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", "7.10.0"..<"8.0.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
    ],
    targets: [
        .target(name: "CSQLite", path: "Modules/CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        .systemLibrary(name: "CZstd", path: "Modules/CZstd", pkgConfig: "libzstd"),
        .target(name: "StorageCore", path: "Modules/StorageCore"),
        .target(
            name: "StorageRecords", dependencies: ["StorageCore", "CSQLite"], path: "Modules/StorageRecords"),
        .target(
            name: "StorageLog",
            dependencies: [
                "StorageRecords", "StorageCore", "CSQLite", "CZstd", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Modules/StorageLog"),
        // How the command-line tool reads lines of a history, points and targets.
        .target(
            name: "ToolParsing", dependencies: ["StorageCore", "CZstd"], path: "Modules/ToolParsing"),
        // Rows and conditions, and the SQLite that they are checked against.
        .target(name: "TestSupport", path: "Modules/TestSupport"),
        .target(
            name: "PredicateTestSupport", dependencies: ["TestSupport", "StorageCore", "CSQLite"],
            path: "Modules/PredicateTestSupport"),
        .executableTarget(
            name: "storagekit-fuzz",
            dependencies: [
                "ToolParsing", "PredicateTestSupport", "StorageLog", "StorageCore", "CSQLite", "CZstd",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Targets",
            // libFuzzer's driver is the main function.
            swiftSettings: [.unsafeFlags(["-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address"])]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    if target.name == "CSQLite" {
        target.cSettings = [.unsafeFlags(["-fsanitize=address,fuzzer-no-link"])]
    } else {
        target.swiftSettings =
            (target.swiftSettings ?? []) + [
                .unsafeFlags(["-sanitize=fuzzer,address", "-enable-testing"]),
                // The same rules as in the root package.
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ]
    }
}
