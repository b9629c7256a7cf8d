// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

let package = Package(
    name: "StorageKit",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "StorageKit", targets: ["StorageKit"]),
        .library(name: "StorageSync", targets: ["StorageSync"]),
        .library(name: "StorageHTTP", targets: ["StorageHTTP"]),
        .library(name: "StorageServer", targets: ["StorageServer"]),
        .library(name: "StorageUI", targets: ["StorageUI"]),
        .library(name: "StorageSQLiteClient", targets: ["StorageSQLiteClient"]),
        .library(name: "StorageSQLiteNIO", targets: ["StorageSQLiteNIO"]),
        .library(name: "StorageTesting", targets: ["StorageTesting"]),
        .library(name: "StorageLifecycle", targets: ["StorageLifecycle"]),
        .library(name: "StorageSignals", targets: ["StorageSignals"]),
        .executable(name: "storagekit", targets: ["StorageKitMain"]),
    ],
    traits: [
        .trait(name: "GRDB", description: "The GRDB engine of SQLiteClient, which is then `.live`."),
        .trait(name: "SQLiteNIO", description: "The SwiftNIO engine of SQLiteClient."),
        .trait(name: "HTTP", description: "HTTP query sources and sync remotes on async-http-client."),
        .trait(name: "Server", description: "The hub as a server on Hummingbird, and `storagekit serve`."),
        .default(enabledTraits: ["GRDB"]),
    ],
    dependencies: [
        // A range, so that apps that use GRDB too can agree with StorageKit on a version. What the engine takes for granted of GRDB beyond its
        // public API is listed in EngineContractTests: a release that breaks one of these facts fails there, and is then excluded here.
        .package(url: "https://github.com/groue/GRDB.swift", "7.10.0"..<"8.0.0"),
        .package(url: "https://github.com/swiftlang/swift-syntax", "602.0.0"..<"604.0.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        // SHA-256 of the log's digests; Apple's CryptoKit where the system has it.
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        // The SwiftNIO engine of SQLiteClient, and the server of StorageHTTP's tests, where their traits are enabled.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        // The client of StorageHTTP, where its trait is enabled.
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        // The server, where its trait is enabled; its TLS and HTTP/2 serve the tests of StorageHTTP as well.
        .package(
            url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: ["FullFoundation"]),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        // The parts of requests and answers, as the server's own channel handler sees them.
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.4.0"),
        // The bridge from the events of sync engines, and the server's own lines.
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        // Linked by those who use StorageSignals, and nobody else.
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.3.0"),
        // Linked by those who use StorageLifecycle, and nobody else.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // The C libraries. Imports point downwards only: each target may name those above it.
        .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        .systemLibrary(
            name: "CZstd",
            pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
        // The prompts of the tool; macOS has it.
        .systemLibrary(name: "CLibedit", providers: [.apt(["libedit-dev"])]),

        // change → capture → event → log → projection → facade
        .target(name: "StorageCore"),
        .target(name: "StorageRecords", dependencies: ["StorageCore", "CSQLite"]),
        .target(
            name: "StorageLog",
            dependencies: [
                "StorageRecords", "StorageCore", "CSQLite", "CZstd", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .target(
            name: "StorageHistory",
            dependencies: ["StorageLog", "StorageCore", "CSQLite", .product(name: "GRDB", package: "GRDB.swift")]),
        .target(
            name: "StorageEntities",
            dependencies: [
                "StorageHistory", "StorageLog", "StorageCore", "CSQLite", .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .target(
            name: "StorageProjections",
            dependencies: [
                "StorageEntities", "StorageHistory", "StorageLog", "StorageCore", "CSQLite",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .target(
            name: "StorageMaintenance",
            dependencies: [
                "StorageProjections", "StorageEntities", "StorageHistory", "StorageLog", "StorageCore", "CSQLite",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .target(
            name: "StorageRouting",
            dependencies: [
                "StorageHistory", "StorageLog", "StorageCore", "CSQLite", .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .target(
            name: "StorageViews",
            dependencies: [
                "StorageRouting", "StorageEntities", "StorageHistory", "StorageLog", "StorageRecords", "StorageCore",
                "CSQLite",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        // No test may depend on it: everything that is tested would be built twice, for the host as well.
        .macro(
            name: "StorageMacros",
            dependencies: [
                .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
                .product(name: "SwiftDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftParser", package: "swift-syntax"),
                .product(name: "SwiftParserDiagnostics", package: "swift-syntax"),
                .product(name: "SwiftSyntax", package: "swift-syntax"),
                .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacroExpansion", package: "swift-syntax"),
                .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
            ]),
        .target(
            name: "StorageKit",
            dependencies: [
                "StorageViews", "StorageRouting", "StorageMaintenance", "StorageProjections", "StorageEntities",
                "StorageHistory", "StorageLog", "StorageSQLiteClient", "StorageCore",
                "StorageMacros", "CSQLite",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .target(
            name: "StorageSync",
            dependencies: [
                "StorageKit", "StorageViews", "StorageEntities", "StorageHistory", "StorageLog", "StorageRecords",
                "StorageCore",
                "StorageMacros",
                "CSQLite", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // Remotes of query sources that are asked over HTTP.
        .target(
            name: "StorageHTTP",
            dependencies: [
                "StorageCore", "StorageSync",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["HTTP"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["HTTP"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["HTTP"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["HTTP"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["HTTP"])),
            ]),
        // A hub for clients anywhere: documents, collections and streams of changes over HTTP.
        .target(
            name: "StorageServer",
            dependencies: [
                "StorageSync", "StorageKit", "StorageLog", "StorageCore",
                "CSQLite", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "HummingbirdTLS", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Server"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras", condition: .when(traits: ["Server"])),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Server"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
            ],
            resources: [.embedInCode("Client/storagekit.js"), .embedInCode("Protocol/openapi.json")]),
        .target(
            name: "StorageUI",
            dependencies: ["StorageSync", "StorageKit", "StorageViews", "StorageEntities", "StorageCore"]),
        // The witness of an SQLite engine, its injection, and two engines.
        .target(
            name: "StorageSQLiteClient",
            dependencies: [
                "StorageRecords", "StorageCore", "CSQLite",
                .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["GRDB"])),
            ]),
        .target(
            name: "StorageSQLiteNIO",
            dependencies: [
                "StorageSQLiteClient", "StorageRecords", "StorageCore", "CSQLite",
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["SQLiteNIO"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["SQLiteNIO"])),
            ]),
        .target(
            name: "StorageTesting",
            dependencies: [
                "StorageKit", "StorageMaintenance", "StorageProjections", "StorageLog", "StorageCore",
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .target(
            name: "StorageLifecycle",
            dependencies: [
                "StorageKit", "StorageCore", .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        // What a store does, for the host's logging, metrics and tracing.
        .target(
            name: "StorageSignals",
            dependencies: [
                "StorageKit", "StorageLog", "StorageCore", .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        .target(
            name: "StorageKitTool",
            dependencies: [
                "StorageServer", "StorageSync", "StorageKit", "StorageCore", "CSQLite", "CZstd", "CLibedit",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
                .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
            ],
            path: "Tools/storagekit",
            exclude: ["Main"]),
        .executableTarget(name: "StorageKitMain", dependencies: ["StorageKitTool"], path: "Tools/storagekit/Main"),

        // Random conditions and a table of SQLite to answer them, for every suite that evaluates conditions.
        .target(
            name: "PredicateTestSupport", dependencies: ["TestSupport", "StorageCore", "CSQLite"],
            path: "Tests/PredicateTestSupport"),
        // Seeds, folders and waits of every suite; processes that tests talk to and kill, their memory, and real histories.
        .target(name: "TestSupport", path: "Tests/TestSupport"),
        // Random statements against tables that use all that SQLite allows.
        .target(
            name: "SchemaTestSupport",
            dependencies: [
                "TestSupport", "StorageLog", "StorageCore", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/SchemaTestSupport"),
        .testTarget(
            name: "StorageCoreTests",
            dependencies: ["PredicateTestSupport", "TestSupport", "StorageCore", "CSQLite"]),
        // Both engines of SQLiteClient, and the store's, in one run.
        .testTarget(
            name: "StorageSQLiteClientTests",
            dependencies: [
                "StorageMaintenance", "TestSupport", "StorageSQLiteClient", "StorageSQLiteNIO", "StorageKit",
                "StorageRecords",
                "StorageCore", .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "StorageRecordsTests",
            dependencies: ["TestSupport", "StorageRecords", "StorageCore", "CSQLite"]),
        .testTarget(
            name: "StorageViewsTests",
            dependencies: [
                "PredicateTestSupport", "TestSupport", "StorageKit", "StorageViews", "StorageRouting",
                "StorageEntities",
                "StorageLog",
                "StorageCore",
                "CSQLite", .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "StorageLogTests",
            dependencies: [
                "TestSupport", "SchemaTestSupport", "StorageMaintenance", "StorageProjections", "StorageEntities",
                "StorageHistory",
                "StorageLog", "StorageRecords",
                "StorageCore", "CSQLite", "CZstd", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["SecondDecoder"]),
        // Entities that several suites store.
        .target(
            name: "EntityTestSupport", dependencies: ["StorageKit", "StorageEntities"], path: "Tests/EntityTestSupport"),
        // These three don't depend on the workers that they run: they are compiled beside them, not behind them. The compiler sorts the
        // expanded macros of a module again after each one, so three modules are compiled sooner than one.
        .testTarget(
            name: "LiveViewTests",
            dependencies: [
                "CSQLite", "TestSupport", "EntityTestSupport", "StorageTesting", "StorageKit", "StorageViews",
                "StorageRouting", "StorageMaintenance", "StorageProjections", "StorageEntities", "StorageHistory",
                "StorageLog", "StorageCore", .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "TimeTravelTests",
            dependencies: [
                "CSQLite", "TestSupport", "EntityTestSupport", "StorageTesting", "StorageKit", "StorageViews",
                "StorageMaintenance", "StorageProjections", "StorageEntities", "StorageHistory", "StorageLog",
                "StorageCore", .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        .testTarget(
            name: "StorageKitTests",
            dependencies: [
                "CSQLite", "TestSupport", "SchemaTestSupport", "EntityTestSupport", "StorageTesting",
                "StorageLifecycle", "StorageSync", "StorageKit",
                "StorageViews", "StorageRouting", "StorageMaintenance", "StorageProjections", "StorageEntities",
                "StorageHistory", "StorageLog", "StorageCore",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            exclude: ["Golden"]),
        .testTarget(
            name: "StorageSyncTests",
            dependencies: [
                "PredicateTestSupport", "TestSupport", "StorageServer", "StorageHTTP", "StorageSync",
                "StorageTesting", "StorageKit",
                "StorageMaintenance", "StorageEntities", "StorageLog", "StorageCore",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        // The program of the tutorial, which the tests run.
        .executableTarget(name: "stock", dependencies: ["StorageKit"], path: "Examples/Stock"),
        // A worked example, which the tests run.
        .executableTarget(
            name: "reader", dependencies: ["StorageHTTP", "StorageSync", "StorageKit"],
            path: "Examples/Reader"),
        // A worked example of a service, which the tests run.
        .executableTarget(
            name: "tickets",
            dependencies: [
                "StorageLifecycle", "StorageKit",
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Server"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
                .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: .when(traits: ["Server"])),
            ],
            path: "Examples/Service", exclude: ["README.md"]),
        .testTarget(
            name: "StorageHTTPTests",
            dependencies: [
                "StorageCore", "StorageEntities", "TestSupport", "StorageHTTP", "StorageSync", "StorageTesting",
                "StorageKit", "reader",
                "sync-worker",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["HTTP"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["HTTP"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["HTTP"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["HTTP"])),
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "HummingbirdHTTP2", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "HummingbirdTLS", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["Server"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Server"])),
            ]),
        .testTarget(
            name: "StorageServerTests",
            dependencies: [
                "StorageEntities", "PredicateTestSupport", "TestSupport", "StorageServer", "StorageHTTP",
                "StorageLifecycle",
                "StorageSync", "StorageTesting", "StorageKit", "StorageLog", "StorageCore", "StorageKitMain",
                "sync-worker", "tickets",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(
                    name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["Server"])),
                .product(name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["Server"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Server"])),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            exclude: ["Browser"]),
        .testTarget(
            name: "StorageSignalsTests",
            dependencies: [
                "StorageSignals", "StorageTesting", "TestSupport", "StorageKit", "StorageLog", "StorageCore",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ]),
        // What is excluded is compiled by the tests themselves, against the sources of StorageUI with SwiftUI.
        .testTarget(
            name: "StorageUITests",
            dependencies: [
                "TestSupport", "StorageUI", "StorageTesting", "StorageKit", "StorageViews", "StorageEntities",
                "StorageCore",
            ],
            exclude: ["StandIn"]),
        // The process that CrashConsistencyTests kill.
        .executableTarget(
            name: "crash-worker",
            dependencies: [
                "StorageEntities", "StorageMaintenance", "StorageProjections", "StorageSync", "StorageLifecycle",
                "StorageKit", "StorageLog", "StorageCore", "TestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "Tests/CrashWorker"),
        // The devices that HubProcessTests and RESTKillTests kill.
        .executableTarget(
            name: "sync-worker",
            dependencies: ["StorageEntities", "PredicateTestSupport", "StorageHTTP", "StorageSync", "StorageKit"],
            path: "Tests/SyncWorker"
        ),
        // The hot paths whose instructions `Tools/instruction-gate` counts. In this package, as what it builds for tests serves them too.
        .target(name: "CallgrindRequests", path: "Tools/hot-paths/CallgrindRequests"),
        .executableTarget(
            name: "hot-paths",
            dependencies: [
                "CallgrindRequests", "StorageKitTool", "StorageTesting", "StorageKit", "StorageRouting", "StorageLog",
                "StorageCore", "CSQLite", "CZstd", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tools/hot-paths",
            exclude: ["Baselines", "CallgrindRequests"]),
        // A disk and an allocator that record and fail, and the process that puts them in the place of the system's.
        .target(name: "FaultSupport", path: "Tests/FaultSupport", linkerSettings: [.linkedLibrary("sqlite3")]),
        .executableTarget(
            name: "fault-worker",
            dependencies: [
                "FaultSupport", "TestSupport", "SchemaTestSupport", "StorageKitTool", "StorageSync",
                "StorageKit",
                "StorageMaintenance", "StorageProjections", "StorageEntities", "StorageLog", "StorageCore", "CSQLite",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/FaultWorker"),
        .testTarget(
            name: "StorageKitToolTests",
            dependencies: [
                "StorageEntities", "StorageMaintenance", "StorageProjections", "TestSupport",
                "SchemaTestSupport", "StorageKitTool", "StorageKitMain", "crash-worker",
                "StorageServer", "StorageSync", "StorageKit", "StorageLog", "StorageCore", "CZstd",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: [
                "Golden", "Support/check-history", "Support/compare-histories", "Support/mcp-client",
                "Tasks/first-guesses.txt",
            ]),
        .testTarget(
            name: "StorageSQLiteNIOTests",
            dependencies: [
                "TestSupport", "StorageSQLiteNIO", "StorageSQLiteClient", "StorageRecords", "StorageCore",
                "CSQLite",
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["SQLiteNIO"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["SQLiteNIO"])),
            ]),
        // It runs the plug-in, which every build of the package makes.
        .testTarget(name: "StorageMacrosTests", dependencies: ["TestSupport"], exclude: ["Fixtures"]),
    ],
    swiftLanguageModes: [.v6]
)

// Optimizes what the tests call, with assertions on; Tools/test sets it. It is for this package alone: SwiftPM refuses such flags in
// dependencies, so they are never there by default.
let isOptimized = Context.environment["STORAGEKIT_OPTIMIZED"] != nil

// One set of rules for every Swift target of ours.
for target in package.targets
where target.type != .system && !["CSQLite", "CallgrindRequests", "FaultSupport"].contains(target.name) {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .define("SQLITE_ENGINE_GRDB", .when(traits: ["GRDB"])),
            .define("SQLITE_ENGINE_SQLITENIO", .when(traits: ["SQLiteNIO"])),
            .define("STORAGE_HTTP", .when(traits: ["HTTP"])),
            .define("STORAGE_SERVER", .when(traits: ["Server"])),
        ]
    guard isOptimized, target.type != .macro else { continue }
    // Tests as well are compiled as whole modules: in groups of files, each group expands the macros of the others again.
    var flags = ["-whole-module-optimization", "-num-threads", "2"]
    if target.type != .test { flags += ["-O", "-assert-config", "Debug"] }
    target.swiftSettings? += [.unsafeFlags(flags)]
}
