// swift-tools-version: 6.2
// The targets and their dependencies are the architecture: a module imports
// only modules listed for it here, and the list cannot form a circle.
import PackageDescription

let optimizedCxx: [CXXSetting] = [.unsafeFlags(["-O3"])]
/// For what a loop's thread runs for every call, and for what runs for every value of a column: a tenth of a short call,
/// and a sixth of an answer in columns, was the bookkeeping of who accesses what.
/// Debug builds, and so all tests, keep it.
let uncheckedExclusivity: [SwiftSetting] = [
    .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))
]

/// Optimized in debug builds too, with all assertions and checks: the tests spend much of their time here.
let optimized: [SwiftSetting] = [
    .unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))
]

let package = Package(
    name: "clusterd",
    products: [
        .executable(name: "clusterd", targets: ["clusterd"]),
        .executable(name: "clusterctl", targets: ["clusterctl"]),
        .executable(name: "clusterd-feed", targets: ["clusterd-feed"]),
        .library(name: "ClusterClient", targets: ["ClusterClient"]),
        // For Benchmarks/ and Fuzzing/ only: no promise to anybody.
        .library(
            name: "ClusterdInternals",
            targets: [
                "Clustering", "SourceEngine", "Responses", "SystemSupport", "ClusterProtocol", "GeoJSON",
                "Expressions", "JSON", "HTTPServer", "HTTP2Server",
                "VectorTile", "Compression", "StateTools",
            ]),
    ],
    targets: [
        .systemLibrary(name: "CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CPrefetch"),
        .systemLibrary(name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"])]),
        .systemLibrary(
            name: "CCairo", pkgConfig: "cairo",
            providers: [.apt(["libcairo2-dev", "libpango1.0-dev"])]),
        // Land and borders, embedded into clusterctl.
        .target(name: "CWorldOutline"),
        // The compiled .proto files, embedded into the daemon.
        .target(name: "CDescriptors"),
        .target(
            name: "CSimdjson", cxxSettings: optimizedCxx,
            linkerSettings: [.linkedLibrary("simdjson")]),

        // Strictness is a constant of llhttp 8; later versions are strict by default.
        .target(name: "CLLHTTP", cSettings: [.define("LLHTTP_STRICT_MODE")]),
        .systemLibrary(name: "CWslay", providers: [.apt(["libwslay-dev"])]),
        .systemLibrary(name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .systemLibrary(name: "CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),

        .systemLibrary(name: "CNATS", pkgConfig: "libnats", providers: [.apt(["libnats-dev"])]),
        .systemLibrary(name: "CKafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
        .systemLibrary(name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),

        .target(name: "EventLoop", dependencies: ["CLibuv", "CLinux"], swiftSettings: uncheckedExclusivity),
        .target(name: "JSON", dependencies: ["CSimdjson"]),
        .target(name: "Compression", dependencies: ["CZlib"]),
        .target(name: "TileCompression", dependencies: ["CDeflate", "Compression"]),
        .target(name: "Clustering", dependencies: ["CPrefetch", "SystemSupport"], swiftSettings: optimized),
        // Only its headers are needed: the library is loaded when a number is first formatted.
        .target(name: "CICU"),
        // Likewise: libpq is loaded when a table is first followed.
        .target(name: "CPostgres"),
        .target(name: "Expressions", dependencies: ["JSON", "CICU", "CLinux", "SystemSupport"]),
        .target(
            name: "GeoJSON",
            dependencies: ["JSON", "Compression", "Protobuf", "SystemSupport", "TypedFeatures"]),
        .target(name: "Protobuf", dependencies: ["JSON"]),
        .target(name: "VectorTile", dependencies: ["JSON", "Protobuf"]),
        .target(name: "ArrowStream", dependencies: ["JSON"], swiftSettings: uncheckedExclusivity),
        .target(
            name: "ClusterProtocol", dependencies: ["JSON", "Compression"],
            swiftSettings: uncheckedExclusivity),
        .target(
            name: "TypedContract",
            dependencies: ["CDescriptors", "ClusterProtocol", "TypedFeatures", "JSON", "Protobuf"],
            swiftSettings: uncheckedExclusivity),
        .target(name: "TypedFeatures", dependencies: ["JSON", "Protobuf"]),
        .target(name: "SystemSupport", dependencies: ["CLinux"]),
        .target(name: "ReplicationLog"),
        .target(name: "Tokens", dependencies: ["CSodium", "JSON"]),
        .target(name: "ImageStore", dependencies: ["Compression", "SystemSupport"]),
        .target(
            name: "Aggregates",
            dependencies: ["ImageStore", "Clustering", "Expressions", "JSON", "SystemSupport"]),
        .target(
            name: "SourceEngine",
            dependencies: [
                "Aggregates", "ImageStore", "Clustering", "Expressions", "GeoJSON",
                "Compression", "JSON",
                "SystemSupport",
            ]),
        .target(
            name: "Responses",
            dependencies: [
                "ArrowStream", "SourceEngine", "Aggregates", "Clustering", "Compression", "GeoJSON", "JSON", "Protobuf",
                "SystemSupport", "TileCompression", "TypedFeatures", "VectorTile",
            ]),
        .target(
            name: "ClusterClient",
            dependencies: ["ClusterProtocol", "EventLoop", "GeoJSON", "JSON", "SystemSupport"]),
        .target(
            name: "RPC",
            dependencies: [
                "ReplicationLog", "SourceEngine", "Responses", "SystemSupport",
                "ClusterProtocol",
                "Clustering",
                "Expressions", "GeoJSON",
                "JSON", "Protobuf", "Tokens", "TypedFeatures",
            ], swiftSettings: uncheckedExclusivity),
        .target(
            name: "Transports",
            dependencies: ["TypedContract", "RPC", "ClusterProtocol", "Compression", "EventLoop", "JSON"],
            swiftSettings: uncheckedExclusivity),
        .target(
            name: "SocketServer",
            dependencies: ["Transports", "RPC", "ClusterProtocol", "EventLoop", "JSON", "SystemSupport"],
            swiftSettings: uncheckedExclusivity),
        .target(
            name: "HTTPServer",
            dependencies: [
                "CLLHTTP", "CWslay", "Transports", "TypedContract", "RPC", "ClusterProtocol", "Compression",
                "EventLoop",
                "JSON",
                "SystemSupport", "Tokens",
            ],
            swiftSettings: uncheckedExclusivity),
        .target(name: "HTTP2", dependencies: ["CNGHTTP2", "JSON"], swiftSettings: uncheckedExclusivity),
        .target(
            name: "HTTP2Server",
            dependencies: [
                "HTTP2", "HTTPServer", "Transports", "TypedContract", "RPC", "ClusterProtocol", "Compression",
                "EventLoop", "JSON", "Protobuf",
            ],
            swiftSettings: uncheckedExclusivity),
        .target(
            name: "PostgresFeed",
            dependencies: ["ReplicationLog", "CPostgres", "EventLoop", "JSON", "SystemSupport"]),
        .target(
            name: "Daemon",
            dependencies: [
                "HTTP2Server", "HTTPServer", "SocketServer", "Transports", "RPC", "PostgresFeed", "ReplicationLog",
                "SourceEngine",
                "Responses",
                "SystemSupport",
                "ClusterProtocol", "EventLoop", "GeoJSON", "JSON", "Tokens",
            ],
            swiftSettings: uncheckedExclusivity),
        .target(name: "CommandLineOptions", dependencies: ["SystemSupport"]),
        .executableTarget(
            name: "clusterd",
            dependencies: ["Daemon", "ClusterProtocol", "CommandLineOptions", "JSON"]),
        .target(
            name: "Rendering",
            dependencies: ["ClusterClient", "ClusterProtocol", "JSON", "CCairo", "CWorldOutline"]),
        .target(name: "Bench", dependencies: ["ClusterClient", "EventLoop", "JSON", "SystemSupport"]),
        .target(
            name: "StateTools",
            dependencies: [
                "SourceEngine", "ImageStore", "Clustering", "SystemSupport", "GeoJSON", "JSON", "Compression",
            ]),
        .target(
            name: "ShardedBuild",
            dependencies: [
                "SourceEngine", "ImageStore", "Clustering", "Expressions", "GeoJSON", "JSON", "SystemSupport",
            ]),
        .executableTarget(
            name: "clusterctl",
            dependencies: [
                "ShardedBuild", "GeoJSON",
                "StateTools", "SourceEngine",
                "ClusterClient", "ClusterProtocol", "EventLoop", "Rendering", "Bench", "HTTP2", "JSON",
                "CommandLineOptions",
                "PostgresFeed", "SystemSupport", "TypedContract",
            ]),

        .target(
            name: "Feeds",
            dependencies: [
                "CNATS", "CKafka", "CMosquitto", "ClusterClient", "ClusterProtocol", "Expressions", "JSON",
            ]),
        .executableTarget(
            name: "clusterd-feed",
            dependencies: ["Feeds", "ClusterProtocol", "CommandLineOptions"]),

        .target(name: "TestSupport", dependencies: ["JSON", "Compression"], path: "Tests/TestSupport"),
        .target(
            name: "SourceTestSupport",
            dependencies: ["Responses", "SourceEngine", "SystemSupport", "GeoJSON", "JSON", "TestSupport"],
            path: "Tests/SourceTestSupport"),
        // Counts the blocks that a test's thread allocates.
        .target(name: "CAllocationCounter", path: "Tests/CAllocationCounter"),
        .testTarget(name: "SystemSupportTests", dependencies: ["SystemSupport", "TestSupport"]),
        .testTarget(name: "TokensTests", dependencies: ["Tokens", "JSON"]),
        .testTarget(name: "JSONTests", dependencies: ["JSON", "TestSupport"]),
        .testTarget(name: "CompressionTests", dependencies: ["Compression", "TestSupport"]),
        .testTarget(
            name: "TileCompressionTests", dependencies: ["TileCompression", "Compression", "TestSupport"]),
        .testTarget(name: "EventLoopTests", dependencies: ["EventLoop", "TestSupport"]),
        .testTarget(
            name: "ClusteringTests",
            dependencies: ["Clustering", "SystemSupport", "JSON", "Compression", "TestSupport"],
            swiftSettings: optimized),
        .testTarget(name: "ExpressionsTests", dependencies: ["Expressions", "JSON", "TestSupport"]),
        .testTarget(name: "ProtobufTests", dependencies: ["Protobuf", "JSON", "TestSupport"]),
        .testTarget(name: "TypedFeaturesTests", dependencies: ["TypedFeatures", "JSON", "Protobuf"]),
        .testTarget(
            name: "TypedContractTests",
            dependencies: [
                "TypedContract", "TypedFeatures", "ClusterProtocol", "Protobuf", "JSON", "TestSupport",
            ]),
        .testTarget(name: "ArrowStreamTests", dependencies: ["ArrowStream", "JSON"]),
        .testTarget(name: "VectorTileTests", dependencies: ["VectorTile", "JSON", "TestSupport"]),
        .testTarget(
            name: "GeoJSONTests",
            dependencies: ["GeoJSON", "JSON", "Compression", "SystemSupport", "TestSupport"]),
        .testTarget(
            name: "ClusterProtocolTests",
            dependencies: ["ClusterProtocol", "JSON", "Compression", "TestSupport"]),
        .testTarget(
            name: "PostgresFeedTests",
            dependencies: [
                "ReplicationLog", "PostgresFeed", "EventLoop", "JSON", "SystemSupport", "TestSupport",
            ]),
        .testTarget(
            name: "SocketServerTests", dependencies: ["SocketServer", "RPC", "ClusterProtocol", "JSON"]),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: ["HTTPServer", "RPC", "ClusterProtocol", "JSON", "TestSupport"]),
        .testTarget(name: "HTTP2ServerTests", dependencies: ["HTTP2Server", "HTTP2", "ClusterProtocol"]),
        .testTarget(name: "ImageStoreTests", dependencies: ["ImageStore", "SystemSupport"]),
        .testTarget(
            name: "AggregatesTests",
            dependencies: [
                "Aggregates", "ImageStore", "SourceEngine", "Responses", "Clustering", "Expressions", "JSON",
                "SystemSupport",
                "SourceTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "SourceEngineTests",
            dependencies: [
                "ReplicationLog", "SourceEngine", "Responses", "Aggregates", "ImageStore", "SystemSupport",
                "Clustering",
                "Expressions", "GeoJSON", "JSON", "SourceTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "ShardedBuildTests",
            dependencies: [
                "ShardedBuild", "Responses", "SourceEngine", "Clustering", "ImageStore", "GeoJSON", "JSON",
                "SystemSupport",
                "SourceTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "ResponsesTests",
            dependencies: [
                "ArrowStream", "Responses", "SourceEngine", "Aggregates", "Clustering", "ClusterProtocol",
                "Compression", "GeoJSON",
                "JSON", "SystemSupport", "SourceTestSupport", "TestSupport", "TypedContract",
            ]),
        .testTarget(
            name: "RPCTests",
            dependencies: [
                "ReplicationLog", "RPC", "Tokens", "Responses", "SourceEngine", "ClusterProtocol", "GeoJSON", "JSON",
                "SystemSupport", "Transports", "TypedContract",
                "SourceTestSupport", "TestSupport", "CAllocationCounter",
            ]),
        .testTarget(
            name: "DaemonTests",
            dependencies: [
                "ReplicationLog", "Daemon", "SocketServer", "RPC", "PostgresFeed", "SourceEngine",
                "Responses",
                "SystemSupport",
                "ClusterProtocol", "EventLoop", "GeoJSON", "JSON", "SourceTestSupport", "TestSupport",
            ]),
        .testTarget(
            name: "ClusterClientTests",
            dependencies: ["ClusterClient", "ClusterProtocol", "EventLoop", "JSON", "TestSupport"]),
        .testTarget(
            name: "clusterctlTests",
            dependencies: [
                "clusterctl", "ClusterClient", "ClusterProtocol", "CommandLineOptions", "Rendering",
                "SourceEngine", "JSON",
                "TestSupport",
            ]),
        .testTarget(
            name: "RenderingTests",
            dependencies: ["Rendering", "ClusterClient", "Compression", "JSON", "TestSupport"]),
        .testTarget(
            name: "StateToolsTests",
            dependencies: [
                "StateTools", "SourceEngine", "ImageStore", "SystemSupport", "JSON", "TestSupport",
            ]),
        .testTarget(name: "FeedsTests", dependencies: ["Feeds", "JSON", "TestSupport"]),
        .testTarget(name: "BenchTests", dependencies: ["Bench", "ClusterClient", "JSON", "TestSupport"]),
        .testTarget(name: "CommandLineOptionsTests", dependencies: ["CommandLineOptions", "TestSupport"]),
        .testTarget(
            name: "IntegrationTests",
            dependencies: ["ClusterClient", "ClusterProtocol", "JSON", "Compression", "TestSupport"]),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
