#if STORAGE_SERVER
    import StorageKit

    /// What a team has to do.
    @StorageEntity
    struct Ticket: Codable, Equatable {
        var id: String
        var title: String
        var assignee: String?
        var isDone: Bool
    }
#endif
