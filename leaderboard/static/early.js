// Before the page is drawn: what only readers without script need is left out.
document.documentElement.classList.add("with-script");
