// @ts-check
// The placeholder of the console: what the host says about itself, read again every few seconds.

const refreshMs = 10_000;

/**
 * Where the discovery document says that a judgment is offered. Gates are the interrupts of the protocol; reviews are
 * Assay's own and stand among the extensions.
 * @type {Record<string, (document: any) => boolean>}
 */
const judgments = {
  annotate: (document) => document.feedback?.supported === true,
  gate: (document) => document.supportedEnvelopes?.includes("clarification.request") === true,
  evaluate: (document) => document.agents?.evalSuite?.supported === true,
  review: (document) => document.extensions?.assay?.reviews?.supported === true,
};

show("address", location.host);
await refresh();
setInterval(refresh, refreshMs);
// Nothing is asked while nobody looks, so whoever comes back sees old news.
document.addEventListener("visibilitychange", refresh);

async function refresh() {
  if (document.hidden) return;
  await Promise.all([showDiscovery(), showReadiness()]);
}

async function showDiscovery() {
  const problem = element("problem");
  try {
    const response = await fetch("/.well-known/openwop");
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    const discovery = await response.json();

    show("version", discovery.implementation?.version ?? "not stated");
    show("protocol", `OpenWOP ${discovery.protocolVersion}`);
    for (const [id, isOffered] of Object.entries(judgments)) showOffer(id, isOffered(discovery));
    problem.hidden = true;
  } catch (error) {
    problem.textContent = `The host could not be asked what it offers: ${error instanceof Error ? error.message : error}.`;
    problem.hidden = false;
  }
}

async function showReadiness() {
  const ready = await fetch("/readyz", { cache: "no-store" }).then(
    (response) => (response.ok ? "Ready" : "Not ready"),
    () => "Unreachable",
  );
  showState(element("readiness"), ready, ready === "Ready" ? "yes" : "no");
}

/**
 * @param {string} id
 * @param {boolean} offered
 */
function showOffer(id, offered) {
  const offer = element(id).querySelector(".offer");
  if (offer instanceof HTMLElement) showState(offer, offered ? "Offered" : "Not offered", offered ? "yes" : "off");
}

/**
 * @param {HTMLElement} target
 * @param {string} text
 * @param {"yes" | "no" | "off"} state
 */
function showState(target, text, state) {
  // A live region is read out when its text is set, even to the same words.
  if (target.textContent !== text) target.textContent = text;
  target.dataset.state = state;
}

/**
 * @param {string} id
 * @param {string} text
 */
function show(id, text) {
  element(id).textContent = text;
}

/** @param {string} id */
function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no element ${id}`);
  return found;
}
