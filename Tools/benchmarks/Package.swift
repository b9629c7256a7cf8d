// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of the library never resolve what only benchmarks need.
let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "storagekit-benchmarks", targets: ["StorageKitBenchmarks"])
    ],
    dependencies: [
        // With both engines of SQLiteClient.
        .package(name: "StorageKit", path: "../..", traits: ["GRDB", "SQLiteNIO"]),
        .package(url: "https://github.com/groue/GRDB.swift", "7.10.0"..<"8.0.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    ],
    targets: [
        // What SQLite itself costs: plain C loops over the same rows.
        .target(name: "CBaseline", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "StorageKitBenchmarks",
            dependencies: [
                "CBaseline",
                .product(name: "StorageKit", package: "StorageKit"),
                .product(name: "StorageSQLiteClient", package: "StorageKit"),
                .product(name: "StorageSQLiteNIO", package: "StorageKit"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// The same rules as in the root package.
for target in package.targets where target.name != "CBaseline" {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("InternalImportsByDefault"),
        ]
}
