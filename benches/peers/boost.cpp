#define BOOST_THREAD_PROVIDES_ONCE_CXX11
#include <boost/thread/once.hpp>
#include "peer.hpp"

struct call {
    template <class F> void operator()(boost::once_flag &flag, F &&initialize) const { boost::call_once(flag, initialize); }
};
SHOW("boost::call_once", boost::once_flag, call)
