#if STORAGE_HTTP
    import StorageHTTP

    @StorageEntity(table: "stories")
    struct Story: Codable {
        var id: Int
        var title: String
        var points: Int
    }

    @QuerySources
    struct StorySources {
        let remote: HTTPRemote

        /// The ten stories with the most points, asked for again after five minutes.
        var best: QuerySource<Story> {
            QuerySource(Story.all().order(by: .points, .descending).limit(10))
                .remote(remote)
                .cache(.staleWhileRevalidate(staleAfter: .minutes(5)))
        }
    }
#endif
