"""The paper's reproduction, the frontier and other systems' mechanisms. Nothing in the product
imports this."""
