// swift-tools-version:6.0
import PackageDescription

let package = Package(
  name: "Rollback",
  platforms: [.macOS(.v14)],
  targets: [
    .systemLibrary(name: "CDeltatape", pkgConfig: "deltatape"),
    .executableTarget(name: "Rollback", dependencies: ["CDeltatape"]),
  ]
)
