// swift-tools-version: 6.2
// One program, a target by the environment's FUZZ_TARGET; built by scripts/fuzz, which adds the sanitizers.
import PackageDescription

let package = Package(
    name: "Fuzzing",
    dependencies: [.package(name: "clusterd", path: "..")],
    targets: [
        .executableTarget(
            name: "Fuzz",
            dependencies: [.product(name: "ClusterdInternals", package: "clusterd")])
    ],
    swiftLanguageModes: [.v6]
)
