#if STORAGE_SERVER
    internal import HTTPTypes
    internal import Hummingbird
    internal import StorageCore
    internal import StorageKit
    internal import StorageSync

    /// The hub's health, status and description.
    extension HubRoutes {
        func publicAnswer(_ route: HubResource) async throws -> Response {
            switch route {
            case .health:
                // A hub whose store can't be read isn't healthy.
                _ = try await hub.head()
                return Response(json: Array("{\"status\":\"ok\"}".utf8))
            case .openAPI: return Response(json: PackageResources.openapi_json)
            default:
                var response = Response(
                    json: PackageResources.storagekit_js, type: "text/javascript; charset=utf-8")
                response.headers[.cacheControl] = "no-cache"
                return response
            }
        }

        /// For tokens that administer.
        func status(_ request: HubRequest) async throws -> Response {
            guard request.token.administers else { throw HubError.forbidden }
            var json = JSONWriter()
            let head = try await hub.head()
            json.object { json in
                json.text(Hexadecimal.text(hub.line), for: "line")
                json.integer(head, for: "position")
                json.integer(Int64(hub.waitingPulls), for: "waiting")
                json.integer(Int64(streams.total), for: "streams")
            }
            return Response(json: json.bytes)
        }

        /// For tokens that administer, as it names projections and engines.
        func metrics(_ request: HubRequest) async throws -> Response {
            guard request.token.administers else { throw HubError.forbidden }
            var text = try await storage.metrics()
            let outboxes = try await storage.readHistory { try OutboxStatus.all(in: $0.database) }
            outboxes.write(to: &text)
            text.add("storagekit_hub_streams", as: .gauge, streams.total, help: "Streams of changes and live queries.")
            text.add(
                "storagekit_hub_waiting_pulls", as: .gauge, hub.waitingPulls, help: "Pulls that wait for a change.")
            return Response(json: Array(text.text.utf8), type: PrometheusText.contentType)
        }
    }
#endif
