#include "bind_newton_rows.hpp"

namespace minorant {

template void bind_newton_rows<float>(nanobind::module_& m);

}  // namespace minorant
