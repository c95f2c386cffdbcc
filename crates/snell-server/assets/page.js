// Live updates start after the first paint. Their scripts are not even fetched before, because they would delay the
// paint.
const AT_LATEST_MS = 1000;

const status = document.getElementById("connection");
if (status) status.textContent = "connecting…";

const isSeen = new Promise((resolve) => {
  // The background alone may be painted earlier.
  const look = (painted) => painted.getEntriesByName("first-contentful-paint").length > 0 && resolve();
  new PerformanceObserver(look).observe({ type: "paint", buffered: true });
  // A hidden page is not painted.
  setTimeout(resolve, document.hidden ? 0 : AT_LATEST_MS);
});

isSeen.then(() => import("./live.js"));
