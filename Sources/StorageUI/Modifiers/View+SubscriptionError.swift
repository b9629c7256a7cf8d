#if canImport(SwiftUI)
    internal import StorageCore
    public import SwiftUI

    extension View {
        /// Shows an alert when values couldn't be updated, with the reason and the remedy. A dismissed error isn't
        /// shown again until it is resolved or replaced by another one.
        ///
        /// - Parameter retry: The button's action; it reloads everything if nil. Views also retry by themselves.
        public func withSubscriptionError(
            _ subscription: some SubscriptionStatus, retry: (@MainActor () -> Void)? = nil
        ) -> some View {
            modifier(SubscriptionErrorAlert(subscription: subscription, retry: retry))
        }
    }

    private struct SubscriptionErrorAlert<Status: SubscriptionStatus>: ViewModifier {
        let subscription: Status
        let retry: (@MainActor () -> Void)?
        @State private var isShown = false

        private var text: String? { subscription.error.map { "\($0.message) \($0.remedy)" } }

        func body(content: Content) -> some View {
            content
                .alert(Text("Error"), isPresented: $isShown) {
                    Button("Retry") { tryAgain() }
                    Button("Cancel", role: .cancel) {}
                } message: {
                    Text(text ?? "")
                }
                .onChange(of: text, initial: true) { _, text in isShown = text != nil }
        }

        private func tryAgain() {
            if let retry { return retry() }
            Task { await subscription.refresh() }
        }
    }
#endif
