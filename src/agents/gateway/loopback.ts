/** Whether a URL names this machine by what is written there. A name that merely resolves to it does not count. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    /^127\.[\d.]+$/.test(hostname)
  );
}
