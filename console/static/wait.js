// Shows a result as soon as it is there: asks for it until the page that waits has
// become the page of the result.

const waiting = document.getElementById("waiting");
const address = waiting?.dataset.wait;
if (address) {
  const answer = await fetch(address, { headers: { Accept: "application/json" } }); // returns with the result, or after some time
  if (answer.ok) location.reload();
}

export {};
