// Shows a result as soon as it is there: asks until it is, or until the sign-in is over.
// These questions do not prolong the sign-in.

const again = 5000; // milliseconds after a failure of the network or the server

const waiting = document.getElementById("waiting");
const address = waiting?.dataset.wait;
if (address) {
  while (!(await over(address))) {}
  location.reload();
}

/**
 * @param {string} address answers with the result, or after some time
 * @returns {Promise<boolean>} whether the page has something else to show
 */
async function over(address) {
  try {
    const answer = await fetch(address, { headers: { Accept: "application/json" }, redirect: "manual" });
    if (answer.ok) return await answer.json();
    if (answer.status < 500) return true; // signed out, or erased: the page says so
  } catch {
    // the network is away
  }
  await new Promise((resolve) => setTimeout(resolve, again));
  return false;
}

export {};
