"""Pages."""

urlpatterns: list = []
