// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "ClusterBenchmarks",
    dependencies: [.package(name: "clusterd", path: "..")],
    targets: [
        .executableTarget(
            name: "ClusterBenchmarks",
            dependencies: [
                .product(name: "ClusterdInternals", package: "clusterd")
            ])
    ],
    swiftLanguageModes: [.v6]
)
