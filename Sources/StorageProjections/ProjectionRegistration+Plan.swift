internal import StorageCore
package import StorageLog

extension ProjectionRegistration {
    /// What opening the store with these projections would do to them, a line for each that isn't there as declared.
    package static func changes(
        _ registrations: [ProjectionRegistration], _ database: Connection
    ) throws -> [(name: String, change: String)] {
        let known = try StoredProjection.all(in: database)
        return registrations.compactMap { registration in
            let projection = registration.projection
            let title = "projection \(projection.name) (\(registration.mode.rawValue), version \(projection.version))"
            guard let before = known.first(where: { $0.name == projection.name }) else {
                return (projection.name, "make \(title)")
            }
            if before.version != projection.version {
                return (projection.name, "recreate \(title), which has version \(before.version)")
            }
            if before.tables.entities != projection.entities {
                return (projection.name, "recreate \(title), which reads other entities")
            }
            guard before.kind != registration.mode.rawValue else { return nil }
            return (projection.name, "keep \(title), which was \(before.kind)")
        }
    }

    /// The names of the user-defined projections in a store.
    package static func stored(_ database: Connection) throws -> Set<String> {
        Set(try StoredProjection.all(in: database).map(\.name))
    }
}
