// The page becomes live once it is seen. What that needs is not even fetched before: it would keep the processor from painting.
const AT_LATEST_MS = 1000;

const status = document.getElementById("connection");
if (status) status.textContent = "connecting…";

const isSeen = new Promise((resolve) => {
  // A bare background may be painted a moment before.
  const look = (painted) => painted.getEntriesByName("first-contentful-paint").length > 0 && resolve();
  new PerformanceObserver(look).observe({ type: "paint", buffered: true });
  // Nothing is painted while nobody looks.
  setTimeout(resolve, document.hidden ? 0 : AT_LATEST_MS);
});

isSeen.then(() => import("./live.js"));
