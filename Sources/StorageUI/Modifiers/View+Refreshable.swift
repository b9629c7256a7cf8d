#if canImport(SwiftUI)
    public import SwiftUI

    extension View {
        /// Reloads everything on pull to refresh. There is no need to: it is for those who like to.
        public func withRefreshable(_ subscription: some SubscriptionStatus) -> some View {
            refreshable { await subscription.refresh() }
        }
    }
#endif
