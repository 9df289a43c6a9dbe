"""Every write to the building. An action takes the actor first, changes rows in one transaction, appends its event."""
