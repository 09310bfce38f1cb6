// Loads a page again that the browser kept and shows on the way back: the sign-in may have
// ended since. Chromium keeps pages although they are no-store.

addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});

export {};
