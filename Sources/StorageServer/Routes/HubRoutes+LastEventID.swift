#if STORAGE_SERVER
    internal import HTTPTypes
    internal import Hummingbird
    internal import StorageSync

    /// The last event that a client has received of a stream that it resumes.
    extension HubRoutes {
        /// Where a stream of changes resumes; nil for a new one.
        func lastEvent(_ request: HubRequest) throws -> ServerSentChanges.ResumePoint? {
            guard let id = request.request.headers[.lastEventID] else { return nil }
            guard let point = ServerSentChanges.ResumePoint(id: id) else {
                throw HubProblem(.malformed, "Last-Event-ID isn't an id of this hub.")
            }
            return point
        }

        /// Where a live query resumes; nil for a new one.
        func resumePoint(_ request: HubRequest) throws -> HubResumePoint? {
            guard let id = request.request.headers[.lastEventID] else { return nil }
            guard let point = HubResumePoint(text: id) else {
                throw HubProblem(
                    .malformed, "Last-Event-ID isn't an id of a live query. Send the id of its last event, or none.")
            }
            return point
        }
    }
#endif
