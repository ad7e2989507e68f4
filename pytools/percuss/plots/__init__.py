"""Pictures of events with matplotlib: one style for files, pages and studies. Needs the extra `report`."""
